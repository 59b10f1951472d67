/** The composition and the life of a gateway. */
export { createGateway, type Gateway, type GatewayDescription, type GatewayOptions } from "./gateway.ts";
