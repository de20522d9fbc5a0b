//! Where a provider is reached: its root, the addresses under it, and whether it is near.

use std::net::{IpAddr, Ipv6Addr};

use reqwest::Url;

/// The root of a provider, as the user wrote it: with or without `/v1`, with or without a trailing `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    root: Url,
}

/// A base URL that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a base URL; write it like `http://127.0.0.1:8080/v1`")]
pub struct InvalidEndpoint(String);

impl Endpoint {
    /// Reads a base URL. A bare host gets the path `/v1`, where nearly all servers of this protocol answer.
    ///
    /// # Errors
    /// Not an HTTP URL.
    pub fn parse(base_url: &str) -> Result<Self, InvalidEndpoint> {
        let invalid = || InvalidEndpoint(without_credentials(base_url));
        let mut root = Url::parse(base_url.trim()).map_err(|_| invalid())?;
        if !matches!(root.scheme(), "http" | "https") || !root.has_host() {
            return Err(invalid());
        }
        root.set_query(None);
        root.set_fragment(None);
        let path = root.path().trim_end_matches('/').to_owned();
        // DeepSeek documents its root without a version.
        let is_versionless = root.host_str() == Some("api.deepseek.com");
        root.set_path(if path.is_empty() && !is_versionless { "/v1" } else { &path });
        Ok(Self { root })
    }

    /// An address under the root, such as `chat/completions`.
    pub fn join(&self, path: &str) -> Url {
        let mut url = self.root.clone();
        url.set_path(&format!("{}/{path}", self.root.path().trim_end_matches('/')));
        url
    }

    /// An address beside the version, such as `props` or `api/tags`, where servers keep what is their own.
    pub fn beside_version(&self, path: &str) -> Url {
        let mut url = self.root.clone();
        let root = self.root.path().trim_end_matches('/');
        url.set_path(&format!("{}/{path}", root.strip_suffix("/v1").unwrap_or(root)));
        url
    }

    /// Host name or address.
    pub fn host(&self) -> &str {
        self.root.host_str().unwrap_or_default()
    }

    /// Whether the server runs on this machine or in a private network.
    pub fn is_local(&self) -> bool {
        let host = self.host().trim_matches(['[', ']']);
        match host.parse::<IpAddr>() {
            Ok(IpAddr::V4(ip)) => {
                ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified()
            }
            Ok(IpAddr::V6(ip)) => is_near_v6(ip),
            Err(_) => {
                let last = host.rsplit('.').next().unwrap_or_default();
                last == "localhost" || (last == "local" && host.contains('.'))
            }
        }
    }

    /// Whether the server runs on this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.host().trim_matches(['[', ']']);
        match host.parse::<IpAddr>() {
            Ok(ip) => ip.is_loopback() || ip.is_unspecified(),
            Err(_) => host == "localhost" || host.ends_with(".localhost"),
        }
    }
}

fn is_near_v6(ip: Ipv6Addr) -> bool {
    ip.is_loopback()
        || ip.is_unspecified()
        || ip.is_unique_local()
        || ip.is_unicast_link_local()
        || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback() || ip.is_private())
}

/// Text that was meant as a URL, without what may be a password in it.
fn without_credentials(url: &str) -> String {
    match (url.find("://"), url.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => {
            format!("{}://{}", &url[..scheme], &url[at + 1..])
        }
        _ => url.to_owned(),
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&without_credentials(self.root.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::Endpoint;

    #[test]
    fn a_base_url_may_or_may_not_name_the_version() {
        for (base, chat, props) in [
            (
                "http://127.0.0.1:8080",
                "http://127.0.0.1:8080/v1/chat/completions",
                "http://127.0.0.1:8080/props",
            ),
            (
                "http://127.0.0.1:8080/",
                "http://127.0.0.1:8080/v1/chat/completions",
                "http://127.0.0.1:8080/props",
            ),
            (
                "http://127.0.0.1:8080/v1",
                "http://127.0.0.1:8080/v1/chat/completions",
                "http://127.0.0.1:8080/props",
            ),
            (
                "http://127.0.0.1:8080/v1/",
                "http://127.0.0.1:8080/v1/chat/completions",
                "http://127.0.0.1:8080/props",
            ),
            (
                "https://h/openai/v1",
                "https://h/openai/v1/chat/completions",
                "https://h/openai/props",
            ),
            (
                "https://h/v1/openai",
                "https://h/v1/openai/chat/completions",
                "https://h/v1/openai/props",
            ),
            (
                "https://api.deepseek.com",
                "https://api.deepseek.com/chat/completions",
                "https://api.deepseek.com/props",
            ),
            ("https://h/v1?api-key=x#y", "https://h/v1/chat/completions", "https://h/props"),
        ] {
            let endpoint = Endpoint::parse(base).unwrap();
            assert_eq!(endpoint.join("chat/completions").as_str(), chat, "{base}");
            assert_eq!(endpoint.beside_version("props").as_str(), props, "{base}");
        }
    }

    #[test]
    fn near_servers_are_told_by_their_host() {
        for (base, is_local) in [
            ("http://localhost:1234", true),
            ("http://127.0.0.2", true),
            ("http://[::1]:8080/v1", true),
            ("http://10.0.0.2:8000/v1", true),
            ("http://172.16.3.4", true),
            ("http://172.32.3.4", false),
            ("http://192.168.1.9", true),
            ("http://[fd00::1]", true),
            ("http://studio.local:1234/v1", true),
            ("https://api.openai.com/v1", false),
            ("https://local.example.com", false),
        ] {
            assert_eq!(Endpoint::parse(base).unwrap().is_local(), is_local, "{base}");
        }
    }

    #[test]
    fn a_bad_base_url_is_named_without_its_password() {
        for base in ["", "127.0.0.1:8080", "ftp://u:secret@h/v1", "http://"] {
            let error = Endpoint::parse(base).unwrap_err().to_string();
            assert!(error.contains("is not a base URL") && !error.contains("secret"), "{error}");
        }
        assert_eq!(Endpoint::parse("http://u:secret@h/v1").unwrap().to_string(), "http://h/v1");
    }
}
