import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { ApiError } from "../../../client/errors.ts";
import { call } from "../../api/client.ts";
import type { User } from "../../api/records.ts";
import { ElevationDialog } from "../../parts/elevation-form.tsx";
import { named, Options, TextField } from "../../parts/fields.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { showToast } from "../../parts/toasts.tsx";
import { ROLES } from "./roles.ts";

interface DialogProps {
  onClose: () => void;
}

/** A person who signs in with a password; those who come by a provider need none of it. */
export function NewUserDialog({
  onClose,
  onMade,
}: DialogProps & { onMade: (user: User) => void }): VNode {
  const make = async (fields: FormData) => {
    const name = String(fields.get("name")).trim();
    const made = await call((api) =>
      api.POST("/users", {
        body: {
          email: String(fields.get("email")).trim(),
          password: String(fields.get("password")),
          role: roleIn(fields),
          ...(name === "" ? {} : { name }),
        },
      }),
    );
    showToast(`${made.email} may sign in.`);
    onMade(made);
  };
  return (
    <FormDialog title="New user" submit="Make the account" onClose={onClose} onSubmit={make}>
      <TextField label="E-mail" type="email" name="email" required autocomplete="off" />
      <TextField label="Name" name="name" maxLength={100} autocomplete="off" />
      <TextField
        label="First password; they can change it, or sign in with a mailed link"
        type="password"
        name="password"
        required
        autocomplete="new-password"
      />
      <RoleField chosen="participant" />
    </FormDialog>
  );
}

interface EditProps extends DialogProps {
  user: User;
  onSaved: (user: User) => void;
}

/** Name and role. A role that opens the words of others needs a reason, which is asked for here. */
export function EditUserDialog({ user, onClose, onSaved }: EditProps): VNode {
  const [isAsking, setAsking] = useState(false);
  const save = async (fields: FormData) => {
    const name = String(fields.get("name")).trim();
    const role = roleIn(fields);
    const body = {
      ...(name === user.name ? {} : { name }),
      ...(role === user.role ? {} : { role }),
    };
    if (Object.keys(body).length === 0) return;
    try {
      onSaved(
        await call((api) => api.PATCH("/users/{id}", { params: { path: { id: user.id } }, body })),
      );
      showToast("It is saved.");
    } catch (error) {
      if (error instanceof ApiError && error.code === "elevation_required") setAsking(true);
      throw error;
    }
  };
  return (
    <>
      <FormDialog
        title={`Edit ${user.name || user.email}`}
        submit="Save"
        onClose={onClose}
        onSubmit={save}
      >
        <TextField label="Name" name="name" maxLength={100} defaultValue={user.name} />
        <RoleField chosen={user.role} />
        <p class="soft small">
          A participant sees what is theirs and shared with them. A moderator also hears the
          sessions of their workspaces. An administrator manages everything, and sees words of
          others only with a reason.
        </p>
      </FormDialog>
      {isAsking && (
        <ElevationDialog
          place={{}}
          what="content, so that this role can be given"
          onClose={() => setAsking(false)}
          onOpen={() => {
            setAsking(false);
            showToast("Now save once more.");
          }}
        />
      )}
    </>
  );
}

interface DisableProps extends DialogProps {
  user: User;
  onChanged: () => void;
}

/** Takes the right to sign in, or gives it back. */
export function DisableDialog({ user, onClose, onChanged }: DisableProps): VNode {
  const { id, disabled } = user;
  const who = user.name || user.email;
  const change = async () => {
    const params = { path: { id } };
    const answer = await (disabled
      ? call((api) => api.POST("/users/{id}/enable", { params }))
      : call((api) => api.POST("/users/{id}/disable", { params })));
    showToast(answer.message);
    onChanged();
  };
  return (
    <FormDialog
      title={disabled ? `Enable ${who}?` : `Disable ${who}?`}
      submit={disabled ? "Enable" : "Disable"}
      onClose={onClose}
      onSubmit={change}
    >
      <p>
        {disabled
          ? "They can sign in again, with the rights that they had."
          : "They are signed out everywhere within seconds and cannot sign in. Keys that they made are suspended. What they recorded stays."}
      </p>
    </FormDialog>
  );
}

function RoleField({ chosen }: { chosen: User["role"] }): VNode {
  return (
    <label class="field">
      <span>Role</span>
      <select class="input" name="role">
        <Options of={named(ROLES)} chosen={chosen} />
      </select>
    </label>
  );
}

function roleIn(fields: FormData): User["role"] {
  return ROLES.find((each) => each === fields.get("role")) ?? "participant";
}
