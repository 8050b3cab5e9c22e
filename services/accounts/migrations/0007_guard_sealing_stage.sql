-- Lets only the role that owns the table `sealing` change it back. Otherwise an attacker who can write rows as the accounts service
-- could make it store new tokens unbound, give their accounts another server, and so receive the tokens.
--
-- Names of relations are written with their schema, and the search path is fixed, because any role may create temporary
-- tables, which hide those of the catalog.
create function guard_sealing_stage() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  stages constant text[] := array['unbound', 'resealing', 'bound'];
  is_owner constant boolean := pg_catalog.pg_has_role(
    current_user,
    (select relowner from pg_catalog.pg_class where oid = tg_relid),
    'usage'
  );
begin
  if not is_owner and (
    tg_op <> 'UPDATE'
    or array_position(stages, new.stage) < array_position(stages, old.stage)
  ) then
    raise exception 'the stage of sealing cannot be changed back by %', current_user using errcode = 'insufficient_privilege';
  end if;
  return case tg_op when 'DELETE' then old else new end;
end
$$;

create trigger sealing_only_forward before insert or update or delete on sealing
  for each row execute function guard_sealing_stage();
