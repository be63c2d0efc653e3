//! The time in which an endpoint works for a run: while at least one request is with it.
//!
//! A machine that works on two requests at once costs no more than with one, so requests at the same time share that time in equal
//! parts. The shares of all requests add up to the time itself.

use tokio::time::Instant;

/// A clock that runs while requests are in flight, at `1 / n` of real time while there are `n`.
#[derive(Debug, Default)]
pub(crate) struct EndpointClock {
    in_flight: u32,
    /// Seconds that a request in flight since the beginning would have by now.
    share: f64,
    /// Until when `share` is counted.
    counted_until: Option<Instant>,
}

impl EndpointClock {
    /// A request is sent. Returns what [`EndpointClock::leave`] needs.
    pub(crate) fn enter(&mut self, now: Instant) -> f64 {
        self.advance(now);
        self.in_flight += 1;
        self.share
    }

    /// A request that was sent at `entered` has ended. Returns its seconds.
    pub(crate) fn leave(&mut self, entered: f64, now: Instant) -> f64 {
        self.advance(now);
        self.in_flight = self.in_flight.saturating_sub(1);
        (self.share - entered).max(0.0)
    }

    /// Seconds that a request in flight since the beginning has at a time: of one that was sent at `entered`, those less `entered`.
    pub(crate) fn share_at(&self, now: Instant) -> f64 {
        let counted_until = self.counted_until.filter(|_| self.in_flight > 0);
        let seconds = counted_until.map_or(0.0, |moment| now.saturating_duration_since(moment).as_secs_f64());
        self.share + seconds / f64::from(self.in_flight.max(1))
    }

    fn advance(&mut self, now: Instant) {
        self.share = self.share_at(now);
        self.counted_until = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn requests_at_the_same_time_share_it_and_an_idle_machine_costs_nothing() {
        let begin = Instant::now();
        let moment = |seconds: u64| begin + Duration::from_secs(seconds);
        let mut clock = EndpointClock::default();
        let request = clock.enter(moment(100));
        assert!((clock.leave(request, moment(110)) - 10.0).abs() < 1e-9);
        // Nothing is asked for an hour. Then two requests, of which the second one waits for the only slot.
        let first = clock.enter(moment(3600));
        let second = clock.enter(moment(3610));
        let first_seconds = clock.leave(first, moment(3630));
        let second_seconds = clock.leave(second, moment(3640));
        assert!((first_seconds - 20.0).abs() < 1e-9, "10 alone, 20 shared: {first_seconds}");
        assert!((second_seconds - 20.0).abs() < 1e-9, "20 shared, 10 alone: {second_seconds}");
        assert!((first_seconds + second_seconds - 40.0).abs() < 1e-9, "together the time in which it worked");
    }
}
