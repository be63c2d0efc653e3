// A folder that is made anew is set aside first: where that fails, as without a network, the one that was there serves on.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { inRoot } from "./process.mjs";

/**
 * Moves `folder` away, if it is there. What an earlier program left aside, ended in the middle, is put back before. Where it cannot be
 * moved, or another program that still runs has one aside, the folder is made anew where it is and none serves on.
 */
export function setAside(folder, aside = inRoot(".cache/set-aside", path.basename(folder))) {
  const owner = `${aside}.pid`;
  const putBack = () => {
    rmSync(folder, { recursive: true, force: true });
    renameSync(aside, folder);
    rmSync(owner, { force: true });
  };
  const moveAway = () => {
    try {
      if (existsSync(aside)) {
        if (othersRun(owner)) return false;
        putBack();
      }
      if (!existsSync(folder)) return false;
      mkdirSync(path.dirname(aside), { recursive: true });
      writeFileSync(owner, String(process.pid));
      renameSync(folder, aside);
      return true;
    } catch {
      // It is in use, or the two places are on two disks.
      return false;
    }
  };
  const wasThere = moveAway();
  return {
    /** Says whether there was one to put back. */
    restore() {
      if (wasThere) putBack();
      return wasThere;
    },
    remove() {
      if (!wasThere) return;
      // Renamed first: half of a folder is never put back.
      try {
        rmSync(`${aside}.removed`, { recursive: true, force: true });
        renameSync(aside, `${aside}.removed`);
        rmSync(owner, { force: true });
        rmSync(`${aside}.removed`, { recursive: true, force: true });
      } catch (error) {
        process.stderr.write(`${aside} could not be removed: ${error.message}\n`);
      }
    },
  };
}

/** Whether the file names another program, and that still runs. */
function othersRun(owner) {
  const pid = existsSync(owner) ? Number(readFileSync(owner, "utf8")) : 0;
  if (!(pid > 0) || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // That of another user cannot be asked.
    return error.code === "EPERM";
  }
}
