import type { ISql } from "@postrider/shared/postgres";
import type { FallbackEnd } from "#src/publishing/domain/fallback-end.ts";
import type { TaskKey } from "#src/publishing/domain/task.ts";

/** Wait of a task whose result could not be recorded, before the next search for its post. */
const SEARCH_AGAIN_MINUTES = 10;
/** How long after `publish_before` the post of such a task is still searched for. */
const GIVE_UP_MINUTES = 60;
const MESSAGE = "the result could not be recorded; the log of the delivery service says why";

/**
 * Ends the task, or has it searched for later, without an event: the posts service learns of it in
 * its sweep. Nothing changes if the call of `end` is no longer open or its worker lost the task.
 */
export async function endWithoutDecision(
  sql: ISql,
  { targetId, generation }: TaskKey,
  end: FallbackEnd,
): Promise<void> {
  const { status } = end;
  const callNumber = end.callNumber ?? null;
  const fence = end.fence ?? null;
  // The row lock in the subquery `open` keeps the task unchanged after its number of calls with
  // unknown outcomes was computed.
  await sql`
    with open as (
      select t.target_id, t.generation,
        t.open_unknowns + case when ${status} = 'unknown' and t.status = 'calling' then 1 else 0 end as open_unknowns,
        case
          when ${status} = 'unknown' and t.publish_before < now() - ${GIVE_UP_MINUTES} * interval '1 minute' then 'failed'
          else ${status}
        end as next_status
      from publish_tasks t
      where t.target_id = ${targetId}
      and t.generation = ${generation}
      and (${fence}::bigint is null or t.fence = ${fence})
      and case
        when ${callNumber}::int is null then t.status in ('working', 'reconciling')
        else t.status = 'calling' and t.call_number = ${callNumber}
      end
      for update
    )
    update publish_tasks t
    set status = o.next_status,
      wake_at = greatest(t.call_until, now()) + ${SEARCH_AGAIN_MINUTES} * interval '1 minute',
      crash_count = 0,
      is_attempt_open = false,
      unknown_count = t.unknown_count + o.open_unknowns - t.open_unknowns,
      open_unknowns = o.open_unknowns,
      first_unknown_at = coalesce(t.first_unknown_at, t.called_at),
      lease_owner = null,
      error_code = case when o.open_unknowns > 0 then 'outcome_unknown' else 'internal_error' end,
      error_message = ${MESSAGE},
      version = t.version + 1,
      updated_at = now()
    from open o
    where t.target_id = o.target_id
    and t.generation = o.generation`;
}
