import { useState } from "react";
import { Button } from "#studio/ui/button.tsx";
import { pickerName } from "#studio/ui/color-field.tsx";
import { TextField } from "#studio/ui/text-field.tsx";
import { MediaDialog } from "./media-dialog.tsx";

interface Props {
  label: string;
  description?: string;
  error: string | undefined;
  value: string;
  onChange: (url: string) => void;
  isReadOnly: boolean;
}

/** The address of an image, which can be chosen among the site's files or uploaded. */
export function ImageField({ value, onChange, isReadOnly, ...common }: Props) {
  const [isChoosing, setChoosing] = useState(false);
  return (
    <div className="image-field">
      <TextField {...common} value={value} onChange={onChange} placeholder="https://" isReadOnly={isReadOnly} />
      {!isReadOnly && (
        <Button size="small" onPress={() => setChoosing(true)} aria-label={pickerName(common.label)}>
          Choose…
        </Button>
      )}
      {/^(https:\/\/|\/media\/v1\/[0-9a-f]{24}$)/.test(value) && (
        <img className="image-chosen" src={value} alt="" referrerPolicy="no-referrer" />
      )}
      {isChoosing && (
        <MediaDialog
          onClose={() => setChoosing(false)}
          onChoose={(url) => {
            onChange(url);
            setChoosing(false);
          }}
        />
      )}
    </div>
  );
}
