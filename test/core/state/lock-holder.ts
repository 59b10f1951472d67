/**
 * A process that holds the lock of the directory it is given, until it is killed, although it drops the handle and
 * collects garbage.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { lockState } from "../../../core/state/lock.ts";

lockState(process.argv[2] ?? "");
setFlagsFromString("--expose-gc");
runInNewContext("gc")();
process.stdout.write("locked\n");
setInterval(() => {}, 60_000);
