/** The channels that `plugins create` writes keep the contract as they are written. */
import "../../../examples/plugin-template/test/contract.test.ts";
import "../../../examples/plugin-template-lines/test/contract.test.ts";
