/** Mail that other programs hand in over HTTP: presets of the hook server, one for each kind of sender. */
import { definePlugin } from "service-gateway/sdk";
import { gmail } from "./gmail.ts";

export default definePlugin({
  id: "mail",
  version: "1.0.0",
  host: "^0.1.0",
  presets: [gmail],
  setup() {},
});
