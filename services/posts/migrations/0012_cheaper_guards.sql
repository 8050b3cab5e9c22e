-- The index on all guards of a content serves these queries, too.
drop index duplicate_guards_shared;

-- Compares new guards with those of concurrent transactions, all guards of a statement at once. A statement that inserts guards that are to be
-- checked has locked their contents before (`lock_guard`). This query begins after the locks were taken, so it sees what every earlier
-- holder of a lock has committed; of several concurrent posts, exactly one is stored.
create function check_guards() returns trigger language plpgsql as $$
begin
  if exists (
    select 1
    from added,
    -- The limit makes Postgres look each guard up in the index.
    lateral (
      select 1
      from duplicate_guards as held
      where held.account_id = added.account_id
      and held.content_hash = added.content_hash
      and held.target_id <> added.target_id
      and guard_clashes(held.due_at, held.expires_at, added.due_at)
      limit 1
    ) as clash
    where added.is_checked
  ) then
    perform refuse('duplicate_content');
  end if;
  return null;
end
$$;

drop trigger duplicate_guards_check on duplicate_guards;
drop function check_guard();

create trigger duplicate_guards_check after insert on duplicate_guards
referencing new table as added for each statement
execute function check_guards();
