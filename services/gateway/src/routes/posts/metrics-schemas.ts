import { PostDetail } from "@postrider/rest/posts/schemas";
import { ref } from "@postrider/rest/schemas";
import { Type } from "typebox";

const count = (description: string) => Type.Integer({ minimum: 0, description });

const MetricsRefresh = Type.Object(
  {
    eligible: count("Published targets on platforms with metrics."),
    ready: count("Targets whose platform answered."),
    notFound: count("Targets whose post is no longer on the platform."),
    error: count("Targets whose platform refused."),
    deferred: count(
      "Targets that were refreshed by hand less than 5 minutes ago, are rate limited, or had no answer in time.",
    ),
    stale: count("Targets for which newer metrics are stored than the platform answered."),
    failed: count("Targets for which the call failed otherwise."),
  },
  {
    $id: "MetricsRefresh",
    description: "What became of each eligible target; each is counted once.",
    examples: [{ eligible: 3, ready: 2, notFound: 0, error: 0, deferred: 1, stale: 0, failed: 0 }],
  },
);

export const RefreshedPost = Type.Object(
  { post: ref(PostDetail), refresh: ref(MetricsRefresh) },
  { $id: "RefreshedPost" },
);

export const METRICS_SCHEMAS = [MetricsRefresh, RefreshedPost];
