//! The endpoint of the model that fills in scenarios, in settings that somebody else may have written.

use model::plain_line;

use crate::api::FormSettings;

/// Takes the endpoint of that model out of settings that were read from a file, unless it is on this machine: a key of this
/// machine would be sent there. What was taken out, in a sentence.
pub(super) fn take_out(settings: &mut FormSettings) -> Option<String> {
    let named = [&settings.sampler_base_url, &settings.sampler_endpoint_url];
    let elsewhere = named
        .into_iter()
        .find(|address| !address.is_empty() && !llm_sampler::is_address_of_this_machine(address))?;
    let note = format!(
        "The endpoint of the model that fills in scenarios is not taken: the file names {}, to which a key of this machine would be \
         sent. Enter it yourself",
        plain_line(elsewhere)
    );
    settings.sampler_base_url.clear();
    settings.sampler_endpoint_url.clear();
    settings.sampler_key_variable.clear();
    Some(note)
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
            let note = take_out(&mut settings).unwrap();
            assert!(note.contains(if base_url.is_empty() { endpoint_url } else { base_url }), "{note}");
            assert_eq!(settings, FormSettings { use_llm_sampler: true, ..FormSettings::default() });
        }
        for base_url in ["http://127.0.0.1:8080/v1", "http://localhost:11434/v1", ""] {
            let mut settings = named(base_url, "");
            assert_eq!((take_out(&mut settings), settings), (None, named(base_url, "")));
        }
    }
}
