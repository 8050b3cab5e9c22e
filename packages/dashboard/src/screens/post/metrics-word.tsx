import type { PostTarget } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { postsApi } from "../../posts/posts-api.ts";
import { useSettings } from "../../settings/settings.ts";
import { useWords } from "../../words/use-words.ts";
import { detailWords } from "./detail-words.ts";

const NAMES = ["impressions", "views", "reach"] as const;

/** The one number of a publication that says how often it was seen. */
export function MetricsWord({ target: { metrics, platform } }: { readonly target: PostTarget }) {
  const words = useWords(detailWords);
  const { language } = useSettings();
  const { data } = useQuery(postsApi.platforms());
  const rules = data?.platforms.find(({ id }) => id === platform)?.rules;
  const name = NAMES.find((known) => metrics?.[known] !== null && metrics?.[known] !== undefined);
  const count = name && metrics?.[name];
  if (name !== undefined && count !== undefined && count !== null)
    return (
      <span className="muted sm num not-s">
        {words.metric[name](new Intl.NumberFormat(language).format(count))}
      </span>
    );
  return rules?.metrics.supported === false ? (
    <span className="muted sm not-s">{words.noMetrics(PLATFORMS[platform].name)}</span>
  ) : null;
}
