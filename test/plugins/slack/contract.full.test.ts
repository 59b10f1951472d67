/** The channel keeps the contract, in a workspace that a test can make fail. */
import { channelContract } from "service-gateway/testkit";
import { describe } from "vitest";
import slack from "../../../plugins/slack/index.ts";
import { postedContract, socketContract } from "./contract-options.ts";

describe("by Socket Mode", () => channelContract({ channel: slack, ...socketContract }));
describe("by posted events", () => channelContract({ channel: slack, ...postedContract }));
