/** Handlers of what other processes, threads, sockets and clients send; each guarded. */

export { createSourceFaultLog, faultText, type OnFault, type SourceFault } from "./faults.ts";
export { asBytes, asText, type Emitter, messageHandler, onEvent, onMessage } from "./listen.ts";
