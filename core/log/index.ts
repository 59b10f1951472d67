/** The log, and the redaction of secrets. */

export { createLog, type Log, type LogOptions } from "./log.ts";
export { createRedactor, shortestInside } from "./redactor.ts";
