//! What containers reach beside the gateway.

use runner::settings::{EndpointSettings, RunSettings};
use sandbox::NetworkAccess;

use crate::api::{Check, CheckState, FixAction};

/// Most ports that are named.
const PORTS: usize = 8;

/// What is said of tasks, whatever their containers reach.
const TASK_IMAGES: &str = "The images of tasks are built by the engine with the network that it has, from recipes that came with the tasks.";

/// What is said of them where a harness plays.
const TASK_HARNESS: &str = "The harness is copied into each of them, and tried there before the first step of its task. A task whose image it does not start in, as on musl, is not played.";

/// What containers reach beside the gateway.
pub(super) fn network(settings: &RunSettings, is_guarded: bool) -> Option<Check> {
    const TITLE: &str = "Network";
    if !settings.use_docker {
        return None;
    }
    if settings.reach == NetworkAccess::Open {
        let direct = settings.endpoint == EndpointSettings::Direct;
        let open =
            "Agents reach the internet and this network. What they find there is not the same in every run.";
        let build = if settings.tasks.is_some() { format!(" {TASK_IMAGES}") } else { String::new() };
        let check =
            Check::new("network", TITLE, CheckState::Warn, "open").with_sentence(format!("{open}{build}"));
        return Some(if direct {
            check
        } else {
            let (field, value) = ("network".to_owned(), "gateway".to_owned());
            check.fixed_by("Gateway only", FixAction::SetText { field, value })
        });
    }
    if settings.tasks.is_some() {
        let check = |value| Check::new("network", TITLE, CheckState::Ok, value);
        return Some(if settings.asks_model() {
            check("gateway only").with_sentence(format!("{TASK_IMAGES} {TASK_HARNESS}"))
        } else {
            check("none").with_sentence(TASK_IMAGES)
        });
    }
    let ports = listening();
    if ports.is_empty() || is_guarded {
        return Some(Check::new("network", TITLE, CheckState::Ok, "gateway only"));
    }
    let mut named: Vec<String> = ports.iter().take(PORTS).map(u16::to_string).collect();
    if ports.len() > PORTS {
        named.push(format!("{} more", ports.len() - PORTS));
    }
    Some(Check::new("network", TITLE, CheckState::Warn, "servers see services of this machine").with_sentence(format!(
        "Agents reach the gateway only. The servers that they write, when they are tested, can reach services of this machine \
         that do not listen on 127.0.0.1 alone: port {}. Bind them to 127.0.0.1, or keep them out with a firewall.",
        named.join(", ")
    )))
}

/// Ports on which this machine listens for more than itself, as far as the system tells.
fn listening() -> Vec<u16> {
    let mut ports: Vec<u16> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .flat_map(|text| open_ports(&text))
        .collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// Of a table of the kernel: `sl local_address rem_address st …`, with `0A` = listening.
fn open_ports(table: &str) -> Vec<u16> {
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut words = line.split_ascii_whitespace().skip(1);
            let (address, port) = words.next()?.split_once(':')?;
            let listens = words.nth(1)? == "0A";
            (listens && !is_loopback(address)).then(|| u16::from_str_radix(port, 16).ok()).flatten()
        })
        .collect()
}

/// Whether an address of such a table is this machine's own: 127.0.0.0/8, also as IPv6, or `::1`. The kernel writes words of
/// four bytes, the lowest byte first.
fn is_loopback(address: &str) -> bool {
    const V6: &str = "00000000000000000000000001000000";
    const MAPPED: &str = "0000000000000000FFFF0000";
    let v4 = address.strip_prefix(MAPPED).unwrap_or(address);
    address == V6 || (v4.len() == 8 && v4.ends_with("7F"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_that_are_open_to_more_than_this_machine_are_found() {
        let table = "  sl  local_address rem_address   st tx_queue\n\
             0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n\
             1: 00000000:0016 00000000:0000 0A 00000000:00000000\n\
             2: 00000000:1F91 0A00020F:1F92 01 00000000:00000000\n\
             3: 0F02000A:0050 00000000:0000 0A 00000000:00000000\n\
             4: 0100007F:0051 00000000:0000 0A 00000000:00000000\n\
             5: 00000000000000000000000000000000:0052 0:0000 0A 0\n\
             6: 00000000000000000000000001000000:0053 0:0000 0A 0\n\
             7: 0000000000000000FFFF00000100007F:0054 0:0000 0A 0\n\
             8: 0000000000000000FFFF00000F02000A:0055 0:0000 0A 0\n";
        assert_eq!(open_ports(table), [22, 80, 82, 85]);
    }
}
