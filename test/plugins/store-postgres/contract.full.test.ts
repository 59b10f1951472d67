import { storeContract } from "service-gateway/testkit";
import { usePostgres } from "../../support/postgres.ts";
import { contractOptions } from "./contract-options.ts";

storeContract({ name: "the store in PostgreSQL", ...contractOptions(usePostgres()) });
