/**
 * The entry point for plugins that read what other machines and programs send: `service-gateway/sdk/reading`, beside
 * `service-gateway/sdk`. A server that sends without an end, or very slowly, costs no more memory and time than its
 * kind of response may take.
 */

export { LimitedBody, ResponseLimitError } from "../media/body-limit.ts";
export { type BoundedRequest, fetchLimited, fetchWhole, type WholeResponse } from "../media/bounded-fetch.ts";
export { createLineReader } from "../media/line-reader.ts";
export { readLines, type TextStream } from "../media/read-lines.ts";
export { pageStyleFile } from "./page/style-file.ts";
