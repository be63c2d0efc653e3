//! The endpoint of the model that fills in scenarios, in settings that somebody else may have written.

use model::plain_line;

use crate::api::FormSettings;

/// Takes out of settings that were read from a file what would send a key of this machine somewhere: the endpoint of that model, unless it
/// is on this machine, and the variable with its key, which may be any variable. What was taken out, in sentences.
pub(super) fn take_out(settings: &mut FormSettings) -> Vec<String> {
    let named = [&settings.sampler_base_url, &settings.sampler_endpoint_url];
    let elsewhere = named
        .into_iter()
        .find(|address| !address.is_empty() && !llm_sampler::is_address_of_this_machine(address))
        .map(|address| plain_line(address));
    let mut notes = Vec::new();
    if let Some(elsewhere) = elsewhere {
        settings.sampler_base_url.clear();
        settings.sampler_endpoint_url.clear();
        notes.push(format!(
            "The endpoint of the model that fills in scenarios is not taken: the file names {elsewhere}, which would get a key of this \
             machine. Enter it yourself"
        ));
    }
    let variable = std::mem::take(&mut settings.sampler_key_variable);
    if !variable.is_empty() {
        notes.push(format!(
            "The variable with the key of that model is not taken: the file names {}. Enter it yourself",
            plain_line(&variable)
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(base_url: &str, endpoint_url: &str) -> FormSettings {
        FormSettings {
            use_llm_sampler: true,
            sampler_base_url: base_url.to_owned(),
            sampler_key_variable: "HF_TOKEN".to_owned(),
            sampler_endpoint_url: endpoint_url.to_owned(),
            ..FormSettings::default()
        }
    }

    #[test]
    fn an_endpoint_elsewhere_is_taken_out_with_its_key_and_one_of_this_machine_stays() {
        for (base_url, endpoint_url) in
            [("https://gets-the-key.example/v1", ""), ("", "https://gets-the-key.example"), ("odd", "")]
        {
            let mut settings = named(base_url, endpoint_url);
            let notes = take_out(&mut settings);
            let address = if base_url.is_empty() { endpoint_url } else { base_url };
            assert!(notes.len() == 2 && notes[0].contains(address), "{notes:?}");
            assert_eq!(settings, FormSettings { use_llm_sampler: true, ..FormSettings::default() });
        }
        for base_url in ["http://127.0.0.1:8080/v1", "http://localhost:11434/v1", ""] {
            // The variable may be any of this machine, wherever its value would be sent.
            let mut settings = named(base_url, "");
            let notes = take_out(&mut settings);
            assert!(notes.len() == 1 && notes[0].contains("HF_TOKEN"), "{notes:?}");
            let no_key = FormSettings { sampler_key_variable: String::new(), ..named(base_url, "") };
            assert_eq!(settings, no_key);
            assert_eq!(take_out(&mut settings), [""; 0]);
        }
    }
}
