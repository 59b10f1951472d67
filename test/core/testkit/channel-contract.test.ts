/** The contract of channels, held against a channel without a fault. */
import { concurrentChannelContract } from "../../../core/testkit/channel-contract.ts";
import { contractOf, createPostbox } from "./postbox/channel.ts";

concurrentChannelContract(contractOf(createPostbox()));
