/** The channel keeps the contract, on a homeserver that a test can make fail. */
import { channelContract } from "service-gateway/testkit";
import matrix from "../../../plugins/matrix/index.ts";
import { contract } from "./contract-options.ts";

channelContract({ channel: matrix, ...contract });
