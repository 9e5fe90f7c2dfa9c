/** A switch between a few ways to show something: radio buttons that look like one bar. */

import { useId } from "preact/hooks";

export interface Option<Key extends string> {
  key: Key;
  words: string;
  disabled?: boolean;
}

export interface ChoiceProps<Key extends string> {
  label: string;
  value: Key;
  options: readonly Option<Key>[];
  onChoose: (key: Key) => void;
}

export function Choice<Key extends string>({ label, value, options, onChoose }: ChoiceProps<Key>) {
  const name = useId();
  return (
    <fieldset class="choice">
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option.key}>
          <input
            type="radio"
            name={name}
            value={option.key}
            checked={option.key === value}
            disabled={option.disabled ?? false}
            onChange={() => onChoose(option.key)}
          />
          <span>{option.words}</span>
        </label>
      ))}
    </fieldset>
  );
}
