import { Link } from "@tanstack/react-router";
import { useSession } from "#studio/session/context.tsx";
import { Empty } from "#studio/ui/states.tsx";

/** Everything in a show happens on a channel, so this is what to do first. */
export function NoChannels({ title }: { title: string }) {
  const { access } = useSession();
  return access.writesSite ? (
    <Empty
      title={title}
      icon="channel"
      action={
        <Link to="/content/channels/new" className="button button-primary">
          Create a channel
        </Link>
      }
    >
      A channel is where viewers watch: the video, what is shown over it, and the panels beside it.
    </Empty>
  ) : (
    <Empty title={title} icon="channel">
      An admin of the site can create one, or give your account a role on it.
    </Empty>
  );
}
