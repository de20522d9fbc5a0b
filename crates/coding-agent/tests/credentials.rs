//! Where keys come from, and that they go nowhere else.

use std::collections::BTreeMap;

use longhand_coding_agent::Environment;
use longhand_coding_agent::credentials::{Credentials, KeyError};
use longhand_coding_agent::settings::ProviderSettings;

const USUAL: &str = "ACME_API_KEY";

fn credentials(variables: &[(&str, &str)], settings: ProviderSettings) -> Credentials {
    let environment: Environment = variables.iter().copied().collect();
    let providers = BTreeMap::from([("acme".to_owned(), settings)]);
    Credentials::new(environment, &providers, [("acme".to_owned(), vec![USUAL.to_owned()])])
}

#[tokio::test]
async fn a_configured_place_goes_before_the_usual_variable() {
    let settings =
        ProviderSettings { api_key_env: Some("MINE".into()), ..ProviderSettings::default() };
    for (variables, expected) in [
        (&[("MINE", "a"), (USUAL, "b")][..], Some("a")),
        (&[(USUAL, "b")], Some("b")),
        (&[("MINE", ""), (USUAL, "b")], Some("b")),
        (&[], None),
    ] {
        let credentials = credentials(variables, settings.clone());
        assert_eq!(credentials.find("acme").await.unwrap().as_deref(), expected, "{variables:?}");
        assert_eq!(credentials.may_have("acme"), expected.is_some());
    }
    let credentials = credentials(&[], settings);
    assert_eq!(credentials.find("other").await.unwrap(), None);
    assert_eq!(credentials.variables().collect::<Vec<_>>(), ["MINE", USUAL]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_key_file_that_others_may_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("key");
    std::fs::write(&file, "sk-file\n").unwrap();
    let settings =
        ProviderSettings { api_key_file: Some("~/key".into()), ..ProviderSettings::default() };
    let credentials =
        credentials(&[("HOME", temp.path().to_str().unwrap()), (USUAL, "b")], settings);
    for (mode, expected) in
        [(0o600, Some("sk-file")), (0o400, Some("sk-file")), (0o640, None), (0o604, None)]
    {
        std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
        match credentials.find("acme").await {
            Ok(key) => assert_eq!(key.as_deref(), expected, "{mode:o}"),
            Err(error) => {
                assert!(matches!(error, KeyError::Exposed { .. }), "{mode:o}: {error}");
                assert_eq!(expected, None, "{mode:o}");
            }
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_prints_the_key_and_its_failure_does_not() {
    let command = |script: &str| ProviderSettings {
        api_key_command: Some(["/bin/sh", "-c", script].map(String::from).to_vec()),
        ..ProviderSettings::default()
    };
    let variables = [("SOURCE", "sk-printed")];
    let key = credentials(&variables, command("echo $SOURCE")).find("acme").await.unwrap();
    assert_eq!(key.as_deref(), Some("sk-printed"));
    let failing = credentials(&variables, command("echo $SOURCE; echo $SOURCE >&2; exit 3"));
    let error = failing.find("acme").await.unwrap_err();
    assert_eq!(error.to_string(), "key command `/bin/sh` gave no key: exit status: 3");
    assert!(!format!("{failing:?}{error:?}").contains("sk-printed"));
}
