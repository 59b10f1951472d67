/**
 * The door for embedders: `service-gateway`.
 *
 * @example
 * const gateway = await createGateway({ configFile: "config.jsonc" });
 * await gateway.close();
 */

export type { Accepted, RawEvent } from "./contract/types.ts";
export { createGateway, type Gateway, type GatewayDescription, type GatewayOptions } from "./gateway/gateway.ts";
