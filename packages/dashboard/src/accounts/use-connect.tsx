import type { Account, PlatformId } from "@postrider/client";
import { type ReactNode, useState } from "react";
import { useAct } from "../kit/use-act.ts";
import { noteReconnect, type ReconnectRetry } from "./begun-reconnect.ts";
import { connectApi, type CredentialPlatform, takesCredentials } from "./connect-api.ts";
import { CredentialsDialog } from "./credentials-dialog.tsx";

interface Wanted {
  readonly platform: PlatformId;
  /** An account that is connected again. */
  readonly account?: { readonly id: string; readonly username: string } | undefined;
  readonly retry?: ReconnectRetry | undefined;
}

interface ConnectOptions {
  /** Path below /app to which the platform leads back. */
  readonly returnTo: `/app${string}`;
  /** After an account was connected without leaving this page. */
  readonly onConnected: (account: Account, wanted: Wanted) => Promise<void> | void;
}

export type BeginConnect = (wanted: Wanted) => void;

interface Connect {
  readonly begin: BeginConnect;
  readonly isBusy: boolean;
  readonly error: unknown;
  /** To be rendered; null while nothing is asked for. */
  readonly dialog: ReactNode;
}

/** Connects an account: by the platform's own page, or by a dialog where it has none. */
export function useConnect({ returnTo, onConnected }: ConnectOptions): Connect {
  const [asked, setAsked] = useState<Wanted & { readonly platform: CredentialPlatform }>();
  const { run, isBusy, error } = useAct(async ({ platform, account, retry }: Wanted) => {
    const which = account === undefined ? { platform } : { accountId: account.id };
    const { url } = await connectApi.createLink({ ...which, returnTo });
    noteReconnect(sessionStorage, retry);
    location.assign(url);
  });
  const begin = ({ platform, ...rest }: Wanted) => {
    if (takesCredentials(platform)) setAsked({ platform, ...rest });
    else run({ platform, ...rest });
  };
  const dialog = asked && (
    <CredentialsDialog
      platform={asked.platform}
      account={asked.account}
      onClose={() => setAsked(undefined)}
      onConnected={async (account) => {
        setAsked(undefined);
        await onConnected(account, asked);
      }}
    />
  );
  return { begin, isBusy, error, dialog };
}
