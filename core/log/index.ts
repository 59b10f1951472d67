/** The log, and the removal of secrets from what is written. */

export { createLog, type Log, type LogOptions } from "./log.ts";
export { createRedactor, shortestInside } from "./redactor.ts";
