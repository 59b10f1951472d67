/** Backups: one file with the state and the configuration, made by a command or each night. */

export { startNightlyBackups } from "./nightly.ts";
