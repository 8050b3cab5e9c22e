import { Who, type WhoProps } from "../kit/avatar.tsx";
import { accountNameOf } from "./account-name.ts";
import { useAccounts } from "./use-accounts.ts";

interface AccountWhoProps extends Omit<WhoProps, "name" | "letterOf"> {
  /** Of an account that is no longer connected. */
  readonly username: string;
}

/** An account with the name and the initial by which it is known. */
export function AccountWho({ username, ...rest }: AccountWhoProps) {
  const account = useAccounts().get(rest.id);
  const name = account === undefined ? username : accountNameOf(account);
  return <Who {...rest} name={name} letterOf={account?.displayName || username} />;
}
