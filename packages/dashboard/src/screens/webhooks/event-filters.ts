import type { EventFilter, EventType } from "@postrider/client";

export type Filters = readonly EventFilter[];

export interface EventGroup {
  readonly filter: EventFilter;
  readonly types: readonly EventType[];
}

const groupOf = (filter: EventFilter) => `${filter.split(".", 1)[0]}.*` as EventFilter;

/** Types by the group that contains them, in their order. */
export function groupTypes(types: readonly EventType[]): readonly EventGroup[] {
  return [...new Set(types.map(groupOf))].map((filter) => ({
    filter,
    types: types.filter((type) => groupOf(type) === filter),
  }));
}

/**
 * Adds a filter to a choice or takes it away. A group stands in place of its types, so that a
 * choice never says the same twice.
 */
export function toggleFilter(filters: Filters, filter: EventFilter): Filters {
  if (filters.includes(filter)) return filters.filter((one) => one !== filter);
  const isGroup = filter === groupOf(filter);
  const kept = isGroup ? filters.filter((one) => groupOf(one) !== filter) : filters;
  return [...kept, filter];
}
