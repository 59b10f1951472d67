/** The log, and the redaction of secrets. */

export { createLog, type Log, type LogOptions, type OpenLog } from "./log.ts";
export { redactValue } from "./redact-value.ts";
export { createRedactor, shortestInside } from "./redactor.ts";
