(define (problem ferry-05)
  (:domain ferry)
  (:objects
    port1 port2 port3 port4
    car1 car2 car3 car4
  )
  (:init
    (port port1)
    (port port2)
    (port port3)
    (port port4)
    (car car1)
    (car car2)
    (car car3)
    (car car4)
    (deck-free)
    (ferry-at port3)
    (car-at car1 port3)
    (car-at car2 port1)
    (car-at car3 port2)
    (car-at car4 port1)
  )
  (:goal (and
    (car-at car1 port4)
    (car-at car2 port2)
    (car-at car3 port3)
    (car-at car4 port4)
  )))
