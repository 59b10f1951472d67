/** The channel keeps the contract, on a server that a test can make fail. */
import { channelContract } from "service-gateway/testkit";
import mattermost from "../../../plugins/mattermost/index.ts";
import { contract } from "./contract-options.ts";

channelContract({ channel: mattermost, ...contract });
