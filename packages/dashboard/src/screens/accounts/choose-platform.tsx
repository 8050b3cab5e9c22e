import type { PlatformId } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { Dialog } from "../../kit/dialog.tsx";
import { Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { PLATFORMS, PlatformTile } from "../../kit/platform-tile.tsx";
import { postsApi } from "../../posts/posts-api.ts";
import { useWords } from "../../words/use-words.ts";
import { accountsWords } from "./accounts-words.ts";
import css from "./accounts.module.css";

interface ChoosePlatformProps {
  readonly onClose: () => void;
  readonly onChoose: (platform: PlatformId) => void;
}

export function ChoosePlatform({ onClose, onChoose }: ChoosePlatformProps) {
  const words = useWords(accountsWords);
  const { data, error } = useQuery(postsApi.platforms());
  return (
    <Dialog title={words.connectTitle} onClose={onClose}>
      {error !== null && <ErrorNotice error={error} />}
      {data === undefined && error === null && <Skeleton />}
      <ul className={css.platforms}>
        {data?.platforms.map(({ id, available }) => (
          <li key={id}>
            <button
              type="button"
              aria-disabled={!available || undefined}
              onClick={available ? () => onChoose(id) : undefined}
            >
              <PlatformTile platform={id} />
              <span>
                {PLATFORMS[id].name}
                {!available && <small className="hint">{words.notConfigured}</small>}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
