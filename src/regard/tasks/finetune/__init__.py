"""Fine-tuning: what all tasks with a head over a pretrained body share."""
