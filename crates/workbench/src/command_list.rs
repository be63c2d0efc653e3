//! The one list of commands. Every host (desktop, HTTP, CLI) expands it, so a command that is not written for the
//! list does not exist, and a host cannot forget one.
//!
//! To add a command: types in [`crate::api`], a line here, an `async fn` of the same name on
//! [`crate::Workbench`]; `cargo nextest run --workspace --test bindings` then writes its TypeScript.

/// Calls `$callback!` with every command: its doc line, its name, its request and its response.
#[macro_export]
macro_rules! with_commands {
    ($callback:ident) => {
        $callback! {
            "Version, sources, counts."
            app_state(Nothing) -> AppState;
            "Opens a folder or zip; reading goes on in the background."
            open_source(OpenSource) -> SourceInfo;
            "Importers of others: programs on the PATH and in the settings."
            list_importers(Nothing) -> ImporterList;
            "Adds importers to the settings, or removes them."
            set_importers(SetImporters) -> ImporterList;
            "What an importer would get of a folder or zip as its argument."
            importer_argument(ImporterArgumentRequest) -> ImporterArgument;
            "Runs an importer on a folder or zip, and opens the table that it makes."
            open_with_importer(OpenWithImporter) -> SourceInfo;
            "Says which column of a table is which; remembered by its header."
            map_columns(MapColumns) -> Nothing;
            "Takes a source out of the library; the folder itself is never touched."
            close_source(SourceRef) -> Nothing;
            "Takes back `close_source`."
            restore_source(SourceRef) -> SourceInfo;
            "Looks for changes in a source now."
            rescan_source(SourceRef) -> SourceInfo;
            "Stops reading a source; what was read stays."
            stop_reading(SourceRef) -> Nothing;
            "What was recognized, skipped and repaired, and why."
            import_report(ImportReportRequest) -> ImportReport;
            "Runs of all sources, filtered, sorted, grouped, paged."
            list_runs(ListRuns) -> RunPage;
            "One run with its settings."
            get_run(RunRef) -> RunDetail;
            "Lets the trials of this run count where other runs have the same ones."
            prefer_run(RunRef) -> RunDetail;
            "Marks runs as invalid, or takes the mark away."
            withdraw(WithdrawRuns) -> Nothing;
            "Which trials of a run to run again, and the commands for its runner."
            list_reruns(RerunRequest) -> RerunList;
            "Sets tags and notes."
            annotate(AnnotateRuns) -> Nothing;
            "Kaplan–Meier table of a run."
            run_survival(RunRef) -> SurvivalTable;
            "Sessions of a run of a benchmark without tests, their figures, and means over scenarios."
            list_sessions(SessionsRequest) -> Sessions;
            "Rows of the episode × turn grid."
            run_grid(RunGridRequest) -> RunGrid;
            "A chart of the run page."
            run_figure(RunFigureRequest) -> FigureDrawing;
            "An episode with its turns."
            get_episode(EpisodeRef) -> EpisodeDetail;
            "A turn with its attempts and failing tests."
            get_turn(TurnRef) -> TurnDetail;
            "A piece of a log or other text file of the source."
            read_text(ReadText) -> TextPage;
            "What the agent did in an attempt."
            get_transcript(AttemptRef) -> Transcript;
            "Which files an attempt changed."
            code_changes(CodeRequest) -> CodeChanges;
            "Both sides of a file."
            code_file(CodeFileRequest) -> CodeFile;
            "Looks in names, requests and failure messages."
            search(SearchRequest) -> SearchHits;
            "Looks in transcripts and logs."
            search_texts(SearchRequest) -> TextHits;
            "How end reasons are counted."
            get_policy(Nothing) -> PolicyTable;
            "How exceptions become end reasons: every row of the decision tables."
            get_decisions(Nothing) -> DecisionTable;
            "Changes how end reasons are counted, and which reasons rows of the decision tables give."
            set_policy(SetPolicy) -> PolicyTable;
            "Keeps an address of the app under a name."
            save_view(SavedView) -> Nothing;
            "Forgets a saved view."
            remove_view(ViewRef) -> Nothing;
            "The scenario packs among the opened sources."
            list_packs(Nothing) -> PackList;
            "A turn of a scenario: diagram, changes, sizes."
            get_scenario_turn(ScenarioTurnRef) -> ScenarioTurn;
            "A document of a turn: request, specification, schema, changes, reference server or pytest suite."
            get_scenario_document(ScenarioDocumentRequest) -> ScenarioText;
            "Cases of a turn's suite, filtered, paged."
            list_scenario_cases(ScenarioSuiteRequest) -> ScenarioSuite;
            "One case with its steps and what it rests on."
            get_scenario_case(ScenarioCaseRequest) -> ScenarioCase;
            "Validates a pack in the background."
            validate_pack(ValidatePack) -> JobRef;
            "What a generation will take."
            estimate_generation(GenerationSettings) -> GenerationEstimate;
            "Generates a pack in the background and opens it."
            generate_pack(GeneratePack) -> JobRef;
            "The jobs of this process."
            list_jobs(Nothing) -> JobList;
            "How a job is doing."
            get_job(JobRef) -> Job;
            "Stops a job."
            stop_job(JobRef) -> Job;
            "Compares runs, or groups of runs: what differs in their settings, survival, tests."
            compare_runs(CompareRequest) -> Comparison;
            "Turns on which members of a comparison disagree, paged."
            list_disagreements(DisagreementRequest) -> DisagreementPage;
            "Tasks of runs of one turn, and what each member of a comparison did with them."
            list_tasks(TasksRequest) -> TaskGrid;
            "Mean stamina by harness and model."
            get_matrix(MatrixRequest) -> Matrix;
            "Mean stamina against the retry budget."
            get_retries(RetriesRequest) -> Retries;
            "Failed attempts by class."
            get_failures(FailuresRequest) -> Failures;
            "The failed attempts behind a share."
            list_failure_cases(FailureCasesRequest) -> FailureCasePage;
            "A figure of a comparison, matrix, retry view or of failures."
            draw_figure(DrawFigure) -> DrawnFigure;
            "The venues that figures are made for."
            list_presets(Nothing) -> PresetList;
            "Makes a file of a figure, table, report or bundle."
            export(ExportRequest) -> Exported;
            "What the form of a new run is built from."
            launch_form(Nothing) -> LaunchForm;
            "What is wrong with settings, what differs from the defaults, the same as YAML and for a terminal."
            check_settings(FormSettings) -> SettingsCheck;
            "Settings of a file, a text, a run or a results folder."
            load_settings(LoadSettings) -> LoadedSettings;
            "Writes settings as YAML."
            save_settings(SaveSettings) -> SavedFile;
            "The prices of models."
            get_prices(Nothing) -> PriceTable;
            "Changes the prices of models."
            set_prices(SetPrices) -> PriceTable;
            "Whether a run can begin, and what it will take."
            preflight_run(PreflightRequest) -> Preflight;
            "The model endpoints that answer on this machine, or at addresses, and their models."
            list_endpoints(ListEndpoints) -> EndpointList;
            "Has a model fill in the scenarios of a run, in the background: the pack that the run then plays."
            sample_scenarios(SampleScenarios) -> JobRef;
            "Begins a run in the background of this process and opens its folder."
            start_run(StartRun) -> StartedRun;
            "Continues a run that was stopped or killed, in the background of this process."
            resume_run(ResumeRun) -> StartedRun;
            "Whether a run was begun by this library on this machine, and what a resume of it would do."
            run_trust(RunFolder) -> RunTrust;
            "Runs that are or were played here or by the command line."
            list_live_runs(Nothing) -> LiveRuns;
            "What a run is doing now."
            get_live_run(RunFolder) -> LiveRunDetail;
            "Pauses, continues or stops a run, or plays the attempt of an episode again."
            control_run(ControlRun) -> LiveRunDetail;
            "What a log of an episode says since."
            live_log(LiveLogRequest) -> LiveLog;
            "The images that agents run in, and whether they are built."
            list_images(Nothing) -> ImageList;
            "Builds images in the background."
            build_images(BuildImages) -> JobRef;
            "Tries images in the background."
            test_images(TestImages) -> JobRef;
            "Whether a key is there; the key itself is never told."
            key_known(KeyName) -> KeyStatus;
            "Puts a key into the OS keychain."
            store_key(StoreKey) -> KeyStatus;
            "Containers, networks and volumes that runs left behind."
            list_leftovers(Nothing) -> LeftoverList;
            "Removes what dead runs left behind."
            clean_leftovers(CleanLeftovers) -> LeftoverList;
            "Answers when something changes."
            wait_for_changes(WaitForChanges) -> Changes;
        }
    };
}
