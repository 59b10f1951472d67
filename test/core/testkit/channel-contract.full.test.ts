/** The contract of channels, held against a channel without a fault. */
import { channelContract } from "service-gateway/testkit";
import { contractOf, createPostbox } from "./postbox/channel.ts";

channelContract({ ...contractOf(createPostbox()), concurrent: true });
