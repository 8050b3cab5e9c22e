import type { Platform } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { connectWords } from "../../accounts/connect-words.ts";
import { useConnect } from "../../accounts/use-connect.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { PLATFORMS, PlatformTile } from "../../kit/platform-tile.tsx";
import { showToast } from "../../kit/toast.tsx";
import { postsApi } from "../../posts/posts-api.ts";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import { startWords } from "./start-words.ts";
import css from "./start.module.css";

/** The platforms of this installation, each with the way to connect an account of it. */
export function ConnectList() {
  const words = useWords(startWords);
  const connecting = useWords(connectWords);
  const can = useCan();
  const { data } = useQuery(postsApi.platforms());
  const { begin, isBusy, error, dialog } = useConnect({
    returnTo: "/app/start",
    onConnected: ({ username }) => showToast(connecting.connected(username)),
  });
  if (!can("accounts:write")) return <p className="sm muted">{words.notAllowed}</p>;
  return (
    <>
      <ul className={css.connect}>
        {data?.platforms.map((platform) => (
          <li key={platform.id}>
            <Way
              platform={platform}
              isBusy={isBusy}
              onConnect={() => begin({ platform: platform.id })}
            />
          </li>
        ))}
      </ul>
      {error !== undefined && <ErrorNotice error={error} />}
      {dialog}
    </>
  );
}

interface WayProps {
  readonly platform: Platform;
  readonly isBusy: boolean;
  readonly onConnect: () => void;
}

function Way({ platform: { id, available }, isBusy, onConnect }: WayProps) {
  const words = useWords(startWords);
  return (
    <button
      type="button"
      aria-disabled={!available || undefined}
      aria-busy={isBusy || undefined}
      onClick={available ? onConnect : undefined}
    >
      <PlatformTile platform={id} />
      <span>
        <b>{PLATFORMS[id].name}</b>
        <small>{available ? words.ways[id] : words.notSetUp}</small>
      </span>
      {available && <ChevronRight className="i" aria-hidden="true" />}
    </button>
  );
}
