/** Files and requests that leave or enter the machine, each judged by where it leads. */

export { createGuardedFetch } from "./guarded-fetch.ts";
export { createOutbound, mostBytesOut } from "./outbound.ts";
export { requestPublic } from "./public-request.ts";
export { type Sniffed, sniff } from "./sniff.ts";
