; Satellites turn, switch on one instrument at a time, calibrate it and take images.
(define (domain satellite)
  (:requirements :strips :typing)
  (:types satellite instrument mode direction)
  (:predicates
    (carries ?s - satellite ?i - instrument) (supports ?i - instrument ?m - mode)
    (calibration ?i - instrument ?d - direction) (points ?s - satellite ?d - direction)
    (power ?s - satellite) (on ?i - instrument) (calibrated ?i - instrument)
    (image ?d - direction ?m - mode))
  (:action turn
    :parameters (?s - satellite ?new ?old - direction)
    :precondition (points ?s ?old)
    :effect (and (not (points ?s ?old)) (points ?s ?new)))
  (:action switch-on
    :parameters (?i - instrument ?s - satellite)
    :precondition (and (carries ?s ?i) (power ?s))
    :effect (and (on ?i) (not (calibrated ?i)) (not (power ?s))))
  (:action switch-off
    :parameters (?i - instrument ?s - satellite)
    :precondition (and (carries ?s ?i) (on ?i))
    :effect (and (power ?s) (not (on ?i))))
  (:action calibrate
    :parameters (?s - satellite ?i - instrument ?d - direction)
    :precondition (and (carries ?s ?i) (calibration ?i ?d) (points ?s ?d) (on ?i))
    :effect (calibrated ?i))
  (:action snap
    :parameters (?s - satellite ?d - direction ?i - instrument ?m - mode)
    :precondition (and (carries ?s ?i) (supports ?i ?m) (points ?s ?d) (on ?i) (calibrated ?i))
    :effect (image ?d ?m)))
