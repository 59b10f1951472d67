/** The composition of a gateway and its life. */
export { createGateway, type Gateway, type GatewayDescription, type GatewayOptions } from "./gateway.ts";
