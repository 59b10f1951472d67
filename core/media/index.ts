/** Files and requests that leave or enter the machine. Each target is checked first. */

export { createGeneratedFiles, type KeepGenerated } from "./generated.ts";
export { createGuardedFetch } from "./guarded-fetch.ts";
export { createOutbound, mostBytesOut, type Outbound } from "./outbound.ts";
export { requestPublic } from "./public-request.ts";
export { type Sniffed, sniff } from "./sniff.ts";
