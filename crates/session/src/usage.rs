//! What a provider billed for one reply, and what that says about the size of the context.
//!
//! `input` excludes cached tokens; `output` includes reasoning.

use crate::json::{Number, open_object};

open_object! {
    /// Tokens of one reply, as measured by the provider.
    pub struct Usage {
        /// Prompt tokens that were neither read from nor written to a cache.
        pub input: u64 = "input",
        /// Tokens of the reply, reasoning included.
        pub output: u64 = "output",
        /// Prompt tokens read from the provider's cache.
        pub cache_read: u64 = "cacheRead",
        /// Prompt tokens written to the provider's cache.
        pub cache_write: u64 = "cacheWrite",
        /// Sum of the four, or 0 where the writer left it out.
        pub total_tokens: u64 = "totalTokens",
        /// Size of the context where the provider states it apart from what it bills. May be negative in foreign files.
        pub context_tokens: Option<i64> = "contextTokens",
        /// Tokens that the provider spent on its own orchestration.
        pub orchestration: Option<Orchestration> = "orchestration",
        /// Part of `output` that was reasoning.
        pub reasoning_tokens: Option<u64> = "reasoningTokens",
        /// Cost in USD.
        pub cost: Option<Cost> = "cost",
    }
}

open_object! {
    /// Tokens that a provider spent around the reply and that are not part of the context.
    pub struct Orchestration {
        /// Prompt tokens.
        pub input: Option<u64> = "input",
        /// Reply tokens.
        pub output: Option<u64> = "output",
        /// Cached prompt tokens.
        pub cache_read: Option<u64> = "cacheRead",
    }
}

open_object! {
    /// Cost of one reply in USD.
    pub struct Cost {
        /// For uncached prompt tokens.
        pub input: Number = "input",
        /// For reply tokens.
        pub output: Number = "output",
        /// For prompt tokens read from cache.
        pub cache_read: Number = "cacheRead",
        /// For prompt tokens written to cache.
        pub cache_write: Number = "cacheWrite",
        /// Sum.
        pub total: Number = "total",
    }
}

impl Usage {
    /// Tokens of the context after this reply: prompt, cache and reply, without orchestration.
    pub fn context(&self) -> u64 {
        if let Some(stated) = self.context_tokens {
            return u64::try_from(stated).unwrap_or(0);
        }
        let total = if self.total_tokens == 0 { self.sum() } else { self.total_tokens };
        total.saturating_sub(self.orchestration.as_ref().map_or(0, Orchestration::sum))
    }

    /// Tokens of the prompt alone.
    pub fn prompt(&self) -> u64 {
        if let Some(stated) = self.context_tokens {
            return u64::try_from(stated).unwrap_or(0);
        }
        match self.billed_prompt() {
            0 => self.context(),
            prompt => prompt,
        }
    }

    /// Whether there is any evidence of the prompt's size. A usage with only reply tokens says nothing about the context.
    pub fn has_context(&self) -> bool {
        self.context_tokens.is_some_and(|stated| stated > 0)
            || self.billed_prompt() > 0
            || self.context() > self.output
    }

    /// Prompt tokens as billed: uncached, read from cache, written to cache.
    pub fn billed_prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    fn sum(&self) -> u64 {
        self.billed_prompt().saturating_add(self.output)
    }
}

impl Orchestration {
    fn sum(&self) -> u64 {
        [self.input, self.output, self.cache_read]
            .into_iter()
            .flatten()
            .fold(0, u64::saturating_add)
    }
}
