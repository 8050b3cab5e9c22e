import { createPostgresBus } from "#src/bus/postgres.ts";
import { describeBus } from "./bus-contract.ts";
import { createDatabase, logger } from "./test-service.ts";

describeBus("the Postgres bus", async () => {
  const { sql, ownerSql, url, ...database } = await createDatabase(12);
  return {
    sql,
    open: () => createPostgresBus({ sql, listenUrl: url, logger }),
    makeTopic: () => Promise.resolve(),
    truncate: async () => {
      await ownerSql`truncate bus.records restart identity`;
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
});
