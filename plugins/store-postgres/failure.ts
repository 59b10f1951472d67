/** Translates errors of the client and the server to errors of the error table. */
import { storeError } from "service-gateway/sdk/store";
import { raised } from "./schema/define.ts";

/** Classes of SQLSTATE, https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const awayClasses: ReadonlySet<string> = new Set(["08", "53", "57", "58"]);
/** A server that is not the primary (yet), and a deadlock that lasts. */
const deadlock = "40P01";
const awayCodes: ReadonlySet<string> = new Set(["25006", deadlock]);
/** The user, the password or the database is wrong, or a privilege is missing. */
const unusableClasses: ReadonlySet<string> = new Set(["28", "3D"]);
const unusableCodes: ReadonlySet<string> = new Set(["42501"]);

/** The server's code, or undefined for an error of the connection. */
function stateOf(error: unknown): string | undefined {
  if (!(error instanceof Error && "severity" in error && "code" in error)) return;
  return typeof error.code === "string" ? error.code : undefined;
}

const certificateCodes = /^(ERR_SSL_|ERR_TLS_|CERT_|SELF_SIGNED|DEPTH_|UNABLE_TO_)/;
const nodeCodes = /^E[A-Z]+$/;
/** Messages of the client library for errors without a code. */
const clientMessages = /connection terminated|timeout|connection ended|not queryable|connection error/i;

function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error) || stateOf(error) !== undefined) return false;
  if (isCertificateError(error)) return true;
  return (
    ("code" in error && typeof error.code === "string" && nodeCodes.test(error.code)) ||
    clientMessages.test(error.message)
  );
}

/**
 * Whether no encrypted connection can be made. While a gateway runs, this may pass; it does not if the settings are
 * wrong.
 */
export function isCertificateError(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && typeof error.code === "string" && certificateCodes.test(error.code)
  );
}

/** Whether the database cannot be used at the moment. The same call may succeed later. */
export function isAway(error: unknown): boolean {
  const state = stateOf(error);
  return state === undefined ? isConnectionError(error) : awayClasses.has(state.slice(0, 2)) || awayCodes.has(state);
}

/**
 * Whether an error within a statement leaves open if it was committed: the connection is lost, or the server is
 * stopping.
 */
export function isUncertain(error: unknown): boolean {
  const state = stateOf(error);
  return state === undefined ? isConnectionError(error) : state.startsWith("57") || state.startsWith("08");
}

/**
 * Whether another transaction and this one waited for each other. Nothing of it was committed, and a repetition
 * succeeds.
 */
export const isDeadlock = (error: unknown): boolean => stateOf(error) === deadlock;

/** Whether the values of a statement were at fault, such as a text that is too long for an index. */
export function isBadValue(error: unknown): boolean {
  const state = stateOf(error);
  return state !== undefined && ["22", "23", "54"].includes(state.slice(0, 2));
}

export const reasonOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message || ("code" in error ? String(error.code) : "") : String(error);
  return text.replace(/\s+/g, " ").trim().replace(/\.$/, "") || "unknown error";
};

/** The error for the caller. Messages of the client and the server contain neither the address nor the password. */
export function translated(error: unknown): Error {
  const state = stateOf(error);
  if (state === raised.fenced) return storeError("state_fenced", {}, { cause: error });
  if (state === raised.leaseLost) return storeError("lease_lost", {}, { cause: error });
  if (isAway(error)) return storeError("database_away", { reason: reasonOf(error) }, { cause: error });
  if (state !== undefined && (unusableClasses.has(state.slice(0, 2)) || unusableCodes.has(state))) {
    return storeError("database_unusable", { reason: reasonOf(error) }, { cause: error });
  }
  return error instanceof Error ? error : new Error(reasonOf(error));
}

/** The error for the caller of a call that failed by itself, within a transaction that others shared. */
export function translatedState(state: string, message: string): Error {
  return translated(Object.assign(new Error(message), { severity: "ERROR", code: state }));
}

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);

/** Whether a translated error leaves open if the call had an effect. */
export const isAwayError = (error: unknown): boolean => codeOf(error) === "database_away";

/** Whether a translated error says that a unit is no longer this process's. */
export function isLeaseError(error: unknown): boolean {
  return codeOf(error) === "lease_lost" || codeOf(error) === "state_fenced";
}
