import { AccountConnectedSchema } from "@postrider/contracts/accounts/v1/accounts_events_pb";
import { handleEvents } from "@postrider/shared/bus/consumer";
import { resumeAccounts } from "#src/engagement/db/reconnected-accounts.ts";

/** Resumes the scheduled refreshes of metrics and the polls for comments at once when an account is connected again. */
export const onAccountConnected = handleEvents(AccountConnectedSchema, async (tx, events) => {
  await resumeAccounts(
    tx,
    events.map(({ message }) => message),
  );
});
