/** Holds the channel to the contract: rules for everything that it declares, with the platform of `platform.ts` behind it. */
import { channelContract } from "service-gateway/testkit";
import channel from "../src/index.ts";
import { fixtures, options } from "./fixtures.ts";
import { openPlatform } from "./platform.ts";

channelContract({
  channel,
  options,
  fixtures,
  // Functions of the connection that no capability asks for; each adds its rules.
  functions: ["probe"],
  platform: { can: ["away", "cut", "hang", "limit", "refuse", "repeat", "unconfirmed"], open: () => openPlatform() },
});
