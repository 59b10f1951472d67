/**
 * The door for embedders: `service-gateway`.
 *
 * @example
 * const gateway = await createGateway({ configFile: "config.jsonc" });
 * await gateway.close();
 */

export type { Accepted, RawEvent } from "./contract/index.ts";
export { createGateway, type Gateway, type GatewayDescription, type GatewayOptions } from "./gateway/index.ts";
