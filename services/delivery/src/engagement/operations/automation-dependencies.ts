import type { EngagementDeps } from "./dependencies.ts";

/** What the jobs of automations need. */
export interface AutomationDeps extends EngagementDeps {
  /** Called when private replies were stored that can be sent now. */
  readonly onActions: () => void;
}
