//! A stand-in for `browser_signals::Site`, with its signature.

use browser_signals::Origin;

/// A registrable domain: its own host and every host below it, by https on the default port.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    host: String,
}

/// Why there is no site.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is not the name of a site; write one such as shop.example, or bind the exact origin")]
pub struct SiteError;

impl Site {
    /// The site of an origin.
    pub fn of(origin: &Origin) -> Result<Site, SiteError> {
        let labels: Vec<&str> = origin.host().rsplit('.').take(2).collect();
        match labels.as_slice() {
            [end, name]
                if origin.scheme() == "https"
                    && origin.port() == 443
                    && end.starts_with(|c: char| c.is_ascii_alphabetic()) =>
            {
                Ok(Site { host: format!("{name}.{end}") })
            }
            _ => Err(SiteError),
        }
    }

    /// Reads a site as it prints.
    pub fn parse(text: &str) -> Result<Site, SiteError> {
        let origin = Origin::parse(&format!("https://{text}")).map_err(|_| SiteError)?;
        Site::of(&origin).and_then(|site| if site.host == text { Ok(site) } else { Err(SiteError) })
    }

    /// Whether the origin belongs to the site.
    pub fn contains(&self, origin: &Origin) -> bool {
        Site::of(origin).is_ok_and(|site| site == *self)
    }
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.host)
    }
}
