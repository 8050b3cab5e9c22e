import type { EngagementDeps } from "./dependencies.ts";

/** Dependencies of the jobs of automations. */
export interface AutomationDeps extends EngagementDeps {
  /** Called when private replies were stored that can be sent now. */
  readonly onActions: () => void;
}
