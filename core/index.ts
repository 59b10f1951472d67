/**
 * The door for embedders: `service-gateway`.
 *
 * @example
 * const gateway = await createGateway({ configFile: "config.jsonc" });
 * await gateway.close();
 */
export { createGateway, type Gateway, type GatewayDescription, type GatewayOptions } from "./gateway.ts";
export type { Accepted, RawEvent } from "./types.ts";
