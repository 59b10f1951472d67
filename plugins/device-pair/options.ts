/** The options of the plugin. */
import { Type } from "service-gateway/sdk";

export const codeTtlSeconds = 600;
export const requestTtlSeconds = 3_600;

export const pairOptions = Type.Object({
  address: Type.Optional(
    Type.String({
      pattern: "^https?://[^\\s/]+(/[^\\s?#]*)?$",
      description:
        "Base address at which devices reach the gateway, such as https://gateway.example.org; default: the " +
        "address that it listens on.",
    }),
  ),
  codeTtlSeconds: Type.Integer({
    minimum: 30,
    maximum: 3_600,
    default: codeTtlSeconds,
    description: "How long a setup code is valid.",
  }),
  requestTtlSeconds: Type.Integer({
    minimum: 60,
    maximum: 86_400,
    default: requestTtlSeconds,
    description: "How long a request waits for approval, and after that for the device to fetch its token.",
  }),
});
